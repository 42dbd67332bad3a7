"""What assets are handed: the lake, the sources, the Spark session."""
