// Package member is one node among the nodes of a cluster. The work of the cluster
// is a list of tasks; a member says that it is there, and holds leases of the tasks
// that fall to it, so that each task is done by one node. Nodes and leases of package
// cluster come in; what this node does, and who the others are, come out.
//
// Which task falls to which node follows from the names of both (rendezvous hashing:
// Thaler and Ravishankar, "Using name-based mappings to increase hit rates", 1998). So
// nodes agree without talking, and a node that comes or goes moves its own share only.
//
// The package does no work and knows no store. A lease keeps nodes from doing the same
// twice; it does not make what they do correct, which the log of versions does.
package member
