"""The limited domain: top-k over an unknown domain."""
