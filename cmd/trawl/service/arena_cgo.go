//go:build cgo && linux

package service

// The allocator of C keeps what it has in one place. By default glibc has an
// arena for every thread, and each keeps what was freed in it: six times what
// the engine's cache held, measured with 512MiB. The option is set before there
// are threads, since each has its arena from its start, and so by C itself.

/*
#include <malloc.h>

__attribute__((constructor)) static void trawl_one_arena(void) {
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 1);
#endif
}
*/
import "C"
