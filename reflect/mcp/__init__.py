"""The wiki, its search and its health for agents, over the Model Context Protocol, behind the same scope filter."""
