package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	keepPrivate() // before anything else runs
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal ends what runs in good order, the second at once.
	context.AfterFunc(ctx, stop)
	os.Exit(exitCode(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr), os.Stderr))
}
