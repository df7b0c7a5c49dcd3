"""Where task records are kept (DESIGN 8). A store is chosen by the scheme of its URL: ``memory:``, ``sqlite:…``."""
