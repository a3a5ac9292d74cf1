// Package hostlink makes addresses of files elsewhere: the source of a repository and a
// path come in, and where the code host shows the file, and what opens it in an editor,
// go out. Addresses are made of patterns that the operator wrote or that are known here;
// what strangers name ends up in their paths only.
package hostlink
