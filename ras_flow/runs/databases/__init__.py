"""Where runs are kept: SQLite files, a PostgreSQL database, or a LangGraph server."""
