"""What starts reflect on one machine or on many: compose file, systemd units, automations, and `make serve`."""
