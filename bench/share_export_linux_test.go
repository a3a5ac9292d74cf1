package bench

// HoldToShare holds a process to a share of a processor.
var HoldToShare = holdToShare
