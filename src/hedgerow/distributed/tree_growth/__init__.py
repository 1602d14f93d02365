"""Growth of the trees of a forest from rows in parts, and what the rows outside of their bags say of them."""
