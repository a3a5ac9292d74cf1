// Package hostsync brings the repositories of a store in step with what external
// services have. Their listings come in; a plan of what is added, renamed, changed,
// hidden and removed goes out, and is carried out. What a listing lacks is hidden only
// when a second one lacks it too and no part of either failed; it is removed after a
// time. Services are asked when they are due, and when users or their webhooks ask. The
// package fetches nothing: others sync what it adds.
package hostsync
