#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""The command line of wire.py. Python compiles a script at each start, and what the script imports only once."""
import sys

import wire

sys.exit(wire.main())
