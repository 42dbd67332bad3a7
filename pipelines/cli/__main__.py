"""`python -m pipelines.cli`: the same as the console script `rocketlens`."""

import sys

from pipelines.cli.app import main

sys.exit(main())
