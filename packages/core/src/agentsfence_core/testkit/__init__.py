"""What every implementation of a port must do, as tests to inherit. Needs the extra ``testkit``."""
