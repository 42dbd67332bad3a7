"""Questions about one broker's store, by subject. In: a path and what is said of its broker. Out: `Rows`."""
