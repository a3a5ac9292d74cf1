package service

import "container/list"

// visitQueue has visits in the order in which they came, by host: all visits of a host
// that is busy are passed over at once.
type visitQueue struct {
	hosts map[string]*list.List
	n     int
	came  uint64 // counts those that ever came
}

// push adds a visit that is in no queue.
func (q *visitQueue) push(v *visit) {
	if q.hosts == nil {
		q.hosts = map[string]*list.List{}
	}
	l := q.hosts[v.host]
	if l == nil {
		l = list.New()
		q.hosts[v.host] = l
	}
	q.came++
	q.n++
	v.in, v.came, v.element = q, q.came, l.PushBack(v)
}

// remove takes out a visit that is in q.
func (q *visitQueue) remove(v *visit) {
	l := q.hosts[v.host]
	if l.Remove(v.element); l.Len() == 0 {
		delete(q.hosts, v.host)
	}
	q.n--
	v.in, v.element = nil, nil
}

// first returns the first visit that is free, of the hosts that are, or nil.
func (q *visitQueue) first(host func(string) bool, free func(*visit) bool) *visit {
	var first *visit
	for name, l := range q.hosts {
		if !host(name) {
			continue
		}
		for e := l.Front(); e != nil; e = e.Next() {
			if v := e.Value.(*visit); free(v) {
				if first == nil || v.came < first.came {
					first = v
				}
				break
			}
		}
	}
	return first
}

// clear takes all visits out.
func (q *visitQueue) clear() {
	for _, l := range q.hosts {
		for e := l.Front(); e != nil; e = e.Next() {
			v := e.Value.(*visit)
			v.in, v.element = nil, nil
		}
	}
	q.hosts, q.n = nil, 0
}
