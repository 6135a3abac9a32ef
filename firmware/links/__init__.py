"""Host languages to core events and effects. A link translates and decides nothing."""
