"""The lake and `watch` beside a real broker that writes: no row lost, doubled or torn, and no finding while it runs."""
