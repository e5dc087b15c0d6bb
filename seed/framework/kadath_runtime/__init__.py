"""What an organism runs on: its tools, gateway, prompt, records and the loop over its passes."""
