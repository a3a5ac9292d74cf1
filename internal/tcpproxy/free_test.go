package tcpproxy

import "testing"

// The tests that start servers at the same time get no ports of one another.
func TestProgramsHaveTheirOwnPorts(t *testing.T) {
	of := map[int]string{}
	for _, program := range []string{"/tmp/b001/bench.test", "/tmp/b002/trawl-bench.test", "/tmp/b003/trawl.test"} {
		for range 1000 {
			p := port(program)
			if p < firstPort || p >= firstPort+ports {
				t.Fatalf("%s gets port %d", program, p)
			}
			if of[p] == "" {
				of[p] = program
			}
			if of[p] != program {
				t.Fatalf("%s and %s get port %d", program, of[p], p)
			}
		}
	}
}
