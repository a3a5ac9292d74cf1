package s3

// OpenWithin is Open with less patience.
var OpenWithin = open
