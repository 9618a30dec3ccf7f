"""Makes samplers of functions with other signatures; `registry.ADAPTERS` lists them."""
