"""What a Program means, computed by torch; shares no lowering with any compiler."""
