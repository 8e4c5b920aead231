#!/bin/sh
# Registers work pool, deployments and automations with the server that PREFECT_API_URL names; safe to repeat.
set -eu
cd "${REFLECT_CHECKOUT:?set it to the folder of prefect.yaml}"
python -m prefect work-pool create reflect --type process --overwrite
python -m prefect deploy --all --no-prompt
python -m deployments.automations
