package mcp

// OpenSessions is how many sessions are open.
func (e *Endpoint) OpenSessions() int { return e.sessions.open() }
