package systemd

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// statusEvery is how often the status is sent where no watchdog asks for more.
const statusEvery = 10 * time.Second

// Notifier talks to the service manager. Its zero value is ready.
type Notifier struct {
	// Failed, if set, is called when a message could not be sent.
	Failed func(error)
}

// Listened reports whether there is a service manager that listens.
func Listened() bool { return os.Getenv("NOTIFY_SOCKET") != "" }

// Ready reports that the server answers searches.
func (n *Notifier) Ready() { n.tell(daemon.SdNotifyReady) }

// Stopping reports that the server has begun to stop.
func (n *Notifier) Stopping() { n.tell(daemon.SdNotifyStopping) }

// Status reports in a line what the server does.
func (n *Notifier) Status(line string) {
	n.tell("STATUS=" + strings.Map(plain, line))
}

// plain makes a space of what would end the line, and so begin another message.
func plain(r rune) rune {
	if r < ' ' || r == 0x7f {
		return ' '
	}
	return r
}

// Watch sends the status at intervals, and feeds the watchdog of the unit as
// long as alive returns no error, until ctx ends.
func (n *Notifier) Watch(ctx context.Context, status func() string, alive func(context.Context) error) {
	if !Listened() {
		return
	}
	limit, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		n.failed(err)
	}
	every := statusEvery
	if limit > 0 {
		every = min(every, limit/3)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		n.Status(status())
		if limit > 0 {
			n.feed(ctx, alive, every)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (n *Notifier) feed(ctx context.Context, alive func(context.Context) error, within time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := alive(ctx); err != nil {
		n.failed(err)
		return
	}
	n.tell(daemon.SdNotifyWatchdog)
}

func (n *Notifier) tell(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		n.failed(err)
	}
}

func (n *Notifier) failed(err error) {
	if n.Failed != nil {
		n.Failed(err)
	}
}
