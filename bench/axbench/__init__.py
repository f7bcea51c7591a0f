"""What drives ax-server and ax-worker for bench/ax_bench; the scenarios are in bench/scenarios."""
