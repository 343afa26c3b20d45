"""Drawing with matplotlib. Imported only when a picture is asked for: matplotlib is optional, and slow to import."""
