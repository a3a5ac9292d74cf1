package config

import (
	"slices"
	"strings"
	"testing"
)

func TestMemTotal(t *testing.T) {
	for text, want := range map[string]int64{
		"MemFree: 1 kB\nMemTotal:       16316412 kB\nX: 2 kB\n": 16316412 << 10,
		"MemTotal: many kB\n": 0,
		"":                    0,
	} {
		if got := memTotal(text); got != want {
			t.Errorf("memTotal(%q): got %d, want %d", text, got, want)
		}
	}
	if memoryBytes() <= 0 {
		t.Error("memoryBytes: got nothing on a system that tells")
	}
}

func TestCgroupFiles(t *testing.T) {
	always := "/sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes"
	for _, c := range []struct{ name, groups, more string }{
		{"nothing to read", "", ""},
		{"the root, as in a container", "0::/\n", ""},
		{"a service", "0::/system.slice/trawl.service\n",
			"/sys/fs/cgroup/system.slice/trawl.service/memory.max /sys/fs/cgroup/system.slice/trawl.service/memory.high " +
				"/sys/fs/cgroup/system.slice/memory.max /sys/fs/cgroup/system.slice/memory.high"},
		{"version 1", "5:cpu,cpuacct:/a\n4:memory:/a/b\n0::/\n",
			"/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes /sys/fs/cgroup/memory/a/memory.limit_in_bytes"},
		{"a path that leads out", "0::/../../etc\nx\n", "/sys/fs/cgroup/etc/memory.max /sys/fs/cgroup/etc/memory.high"},
	} {
		want := strings.Fields(always + " " + c.more)
		if got := cgroupFiles(c.groups); !slices.Equal(got, want) {
			t.Errorf("%s: cgroupFiles(%q):\ngot  %q\nwant %q", c.name, c.groups, got, want)
		}
	}
}
