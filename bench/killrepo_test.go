package bench

import "testing"

// TestJudgeRepository: what a restart may show of a repository, and what not.
func TestJudgeRepository(t *testing.T) {
	for _, tt := range []struct {
		about         string
		repo          killRepo
		listed        bool
		first, second []int
		right         bool
	}{
		// Right
		{"synced", killRepo{added: true, newest: 5, synced: 3}, true, []int{3}, []int{3}, true},
		{"further than was acknowledged", killRepo{added: true, newest: 5, synced: 3}, true, []int{5}, []int{5}, true},
		{"not synced yet", killRepo{added: true, newest: 1}, true, nil, nil, true},
		{"adding was cut off, it is not there", killRepo{begun: true, newest: 1}, false, nil, nil, true},
		{"removing was cut off, it is there", killRepo{added: true, begun: true, newest: 2, synced: 2}, true, []int{2}, []int{2}, true},
		{"removing was cut off, it is not there", killRepo{added: true, begun: true, newest: 2, synced: 2}, false, nil, nil, true},
		{"removed", killRepo{added: true, removed: true, newest: 2, synced: 2}, false, nil, nil, true},

		// Lost
		{"added", killRepo{added: true, newest: 1}, false, nil, nil, false},
		{"a sync is lost", killRepo{added: true, newest: 5, synced: 3}, true, []int{2}, []int{2}, false},
		{"all documents are lost", killRepo{added: true, newest: 5, synced: 3}, true, nil, nil, false},

		// Wrong
		{"removed, but listed", killRepo{added: true, removed: true}, true, nil, nil, false},
		{"removed, but found", killRepo{added: true, removed: true, newest: 2}, false, []int{2}, nil, false},
		{"a version that never was", killRepo{added: true, newest: 5, synced: 3}, true, []int{6}, []int{6}, false},
		{"two versions at once", killRepo{added: true, newest: 5, synced: 3}, true, []int{4, 5}, []int{4, 5}, false},
		{"half a version", killRepo{added: true, newest: 5, synced: 3}, true, []int{5}, []int{4}, false},
		{"a file is missing", killRepo{added: true, newest: 5, synced: 3}, true, []int{5}, nil, false},
		{"found without being there", killRepo{begun: true, newest: 1}, false, []int{1}, []int{1}, false},
	} {
		tt.repo.name = "r"
		if err := tt.repo.judge(tt.listed, tt.first, tt.second); (err == nil) != tt.right {
			t.Errorf("%s: judged %v, want right: %v", tt.about, err, tt.right)
		}
	}
}
