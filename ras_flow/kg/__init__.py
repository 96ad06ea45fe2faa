"""Knowledge graphs that exist: reading, storing, linking and searching them."""
