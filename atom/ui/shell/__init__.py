"""The frame around every screen: menu, chain, door, tour, help, stores."""
