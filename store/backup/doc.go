// Package backup copies data directories to a destination and back. A store
// comes in, as a checkpoint, and its files leave in parts, as objects that are
// named by what is in them; a manifest, written last, says how files are made
// of objects. Restoring goes the other way, into a directory that did not
// exist. cmd/trawl calls it; it knows nothing of commands, schedules or HTTP.
//
// # Layout of a destination
//
//	repository            what the destination is: format, ID, whether encrypted
//	keys/ID               the key of a destination with a passphrase, for ID
//	objects/ab/abcd…      content, by the SHA-256 of what is stored
//	manifests/TIME-ID     a backup: its objects, and how files are made of them
//	locks/KIND-ID         who is at work, see lock.go
//
// repository and manifests begin with a line that has the format version and
// the SHA-256 of all that follows. Objects are at most 4 MiB of content: a
// large file is cut, small ones share an object. With encryption, objects, keys
// and the part of a manifest that has file names are files in the format of
// age. It still shows how many objects of what size a backup has, and when it
// was made. Encrypting the same content twice gives different bytes, so names
// of objects reveal nothing about their content.
//
// # What is safe when
//
// An object is whole or absent, and a manifest is written when all its objects
// are durable, so that a backup exists wholly or not at all. The next run finds
// the objects that an interrupted one sent. Nothing is changed in place and
// only Prune deletes. It removes objects that no manifest needs, and none while
// a backup is being made, which may rely on objects that no manifest names yet.
//
// # Caveats
//
// A backup holds hashes of passwords and tokens, and all text. A user who can
// write to the destination can replace a backup by another, encrypted or not: a
// public key is known to many. The restored users and tokens are those of the
// backup.
package backup
