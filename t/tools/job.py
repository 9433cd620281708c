#!/usr/bin/env -S python3 -S
# SPDX-License-Identifier: LGPL-3.0-only
"""The command line of jobctl.py. Python compiles a script at each start, and what the script imports only once."""
import sys

import jobctl

sys.exit(jobctl.main())
