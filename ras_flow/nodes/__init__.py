"""The nodes of the graph, one file each: read state, call one part, return what changed."""
