package bench

import (
	"errors"
	"fmt"

	"github.com/containerd/cgroups/v3"
	"github.com/containerd/cgroups/v3/cgroup1"
	"github.com/containerd/cgroups/v3/cgroup2"
	"github.com/opencontainers/runtime-spec/specs-go"
)

// sharePeriod is how often a process gets its share of a processor, in microseconds. A share is a
// millisecond of it or more.
const sharePeriod uint64 = 20_000

// holdToShare has a process take no more than a share of one processor for as long as it
// lives, by a control group of its own, which needs the rights to make one. The group is
// removed once the process has ended.
func holdToShare(name string, pid int, share float64) (remove func() error, err error) {
	period, quota := sharePeriod, int64(share*float64(sharePeriod))
	var group interface {
		AddProc(pid uint64) error
		Delete() error
	}
	if cgroups.Mode() == cgroups.Unified {
		group, err = cgroup2.NewManager("/sys/fs/cgroup", "/"+name, &cgroup2.Resources{CPU: &cgroup2.CPU{Max: cgroup2.NewCPUMax(&quota, &period)}})
	} else {
		group, err = newOldGroup(name, &specs.LinuxCPU{Quota: &quota, Period: &period})
	}
	if err == nil {
		if err = group.AddProc(uint64(pid)); err != nil {
			err = errors.Join(err, group.Delete())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("hold process %d to %.2f of a processor: %w", pid, share, err)
	}
	return group.Delete, nil
}

// oldGroup is a group of the first version, where each controller has a tree of its own.
type oldGroup struct{ cgroup1.Cgroup }

func newOldGroup(name string, cpu *specs.LinuxCPU) (oldGroup, error) {
	g, err := cgroup1.New(cgroup1.StaticPath("/"+name), &specs.LinuxResources{CPU: cpu}, cgroup1.WithHierarchy(cgroup1.SingleSubsystem(cgroup1.Default, cgroup1.Cpu)))
	return oldGroup{g}, err
}

func (g oldGroup) AddProc(pid uint64) error { return g.Cgroup.AddProc(pid) }
