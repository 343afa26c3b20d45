"""Agents: programs that ask through the Model Context Protocol, with every price known before it is paid.

An agent is an analyst like any other. It plans a question, which is free, and asks by the plan's id, so that nothing
is spent that was not priced before. ``podium mcp`` serves one agent over a pipe; ``podium serve`` serves many over
HTTP, with the same tokens as everything else.
"""
