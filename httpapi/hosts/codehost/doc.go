// Package codehost is what the clients of code hosts have in common. Requests go
// through a Client, which keeps to the limits that hosts announce, asks again after
// faults that pass, and asks hosts for what has changed only. A Host lists
// repositories; Rules choose among them. The package knows no kind of host, and
// nothing of what becomes of a listing.
package codehost
