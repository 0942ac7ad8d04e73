"""Adapters to agent frameworks. Each module needs the framework it is named after, and imports it when it is imported."""
