package identity

import (
	"context"
	"reflect"
	"strings"
	"testing"
)

// FuzzPasswordHash: whatever stands in place of a password hash, it is of no
// known form, or it can be checked at a cost that a server can bear, and is
// written as it is read.
func FuzzPasswordHash(f *testing.F) {
	const tail = "$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	for _, text := range []string{
		"", "$$$$$", "$argon2id$v=19$m=32768,t=3,p=1" + tail, "$argon2id$v=19$m=8,t=1,p=1" + tail, "$argon2id$v=19$m=4294967295,t=4294967295,p=1" + tail,
		"$argon2id$v=19$m=0,t=0,p=1" + tail, "$argon2id$v=19$m=8,t=1,p=1$$" + strings.Repeat("A", 43), "$argon2id$v=19$m=8,t=1,p=2" + tail, "$argon2id$v=19$m=8,t=1,p=1\n" + tail,
		"$argon2id$v=19$m=+8,t=1,p=1" + tail, "$argon2id$v=19$m=0x8,t=1_0,p=1" + tail, "$argon2i$v=19$m=8,t=1,p=1" + tail, "$argon2id$v=19$m=8,t=1,p=1" + tail[:len(tail)-1] + "B",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePasswordHash(text)
		if err != nil {
			return
		}
		if p.cost.MemoryKiB > mostMemoryKiB || p.cost.Passes > mostPasses {
			t.Fatalf("%q is taken at the cost %+v", text, p.cost)
		}
		if again, err := parsePasswordHash(p.String()); err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("%q is %+v, and written and read again %+v, %v", text, p, again, err)
		}
	})
}

// TestDamagedPasswordHash: one whose cost is out of bounds takes what a new one
// costs, and no password is right.
func TestDamagedPasswordHash(t *testing.T) {
	h := newHasher(Cost{MemoryKiB: 8, Passes: 1})
	stored, err := h.hash(context.Background(), "glazed and fired", make([]byte, saltBytes))
	if err != nil {
		t.Fatal(err)
	}
	for cost, want := range map[string]bool{"m=8,t=1": true, "m=4294967295,t=1": false, "m=8,t=4294967295": false} {
		damaged := strings.Replace(stored, "m=8,t=1", cost, 1)
		if right, _, err := h.check(context.Background(), damaged, "glazed and fired"); right != want || err != nil {
			t.Errorf("%s: got %t, %v, want %t", damaged, right, err, want)
		}
	}
}
