package main

import (
	"flag"
	"fmt"
	"time"

	"github.com/trawlsearch/trawl/bench"
)

// phaseFlags is what the command line said about the parts of a run beyond the
// timed queries.
type phaseFlags struct {
	full       bool
	cold       int
	coldFiles  bool
	clients    []int
	clientsFor time.Duration
	memory     []string
	growth     []float64
}

func (f *phaseFlags) define(flags *flag.FlagSet) {
	flags.BoolVar(&f.full, "full", false, "--cold 3 --clients 1,4,16 --memory 256MiB,512MiB,1GiB,2GiB --growth 1/4,1/2,1,2,4, where these are not given")
	flags.IntVar(&f.cold, "cold", 0, "how often to ask with nothing in memory")
	flags.BoolVar(&f.coldFiles, "cold-files-only", false, "empty memory of the files that are read and of no others, on a machine with other work")
	flags.Var(listFlag[int]{&f.clients, readClients}, "clients", "numbers of clients to serve at once, such as 1,4,16")
	flags.DurationVar(&f.clientsFor, "clients-for", 10*time.Second, "how long each number of clients asks each tool")
	flags.Var(listFlag[string]{&f.memory, readWord}, "memory", "values of trawl's setting memory to try, such as 512MiB,1GiB")
	flags.Var(listFlag[float64]{&f.growth, readFactor}, "growth", "sizes to try, as parts and multiples of the corpus, such as 1/2,1,2")
}

// complete fills in what --full stands for and refuses nonsense.
func (f *phaseFlags) complete(flags *flag.FlagSet) error {
	if f.cold < 0 {
		return fmt.Errorf("--cold %d: want a number of rounds", f.cold)
	}
	if !f.full {
		return nil
	}
	given := map[string]bool{}
	flags.Visit(func(g *flag.Flag) { given[g.Name] = true })
	if !given["cold"] {
		f.cold = 3
	}
	if !given["clients"] {
		f.clients = []int{1, 4, 16}
	}
	if !given["memory"] {
		f.memory = []string{"256MiB", "512MiB", "1GiB", "2GiB"}
	}
	if !given["growth"] {
		f.growth = []float64{0.25, 0.5, 1, 2, 4}
	}
	return nil
}

// apply sets the phases of the run.
func (f *phaseFlags) apply(c *bench.Config) {
	c.Cold, c.ColdFilesOnly, c.Clients, c.ClientsFor, c.Memory, c.Growth = f.cold, f.coldFiles, f.clients, f.clientsFor, f.memory, f.growth
}
