package hosts

import (
	"errors"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/trawlsearch/trawl/httpapi/jsonc"
)

// secretNames are the properties whose texts are secrets, in lower case, whatever kind
// of host the configuration is of.
var secretNames = map[string]bool{
	"token": true, "secret": true, "password": true, "apppassword": true, "privatekey": true, "clientsecret": true, "personalaccesstoken": true, "credentials": true,
	"accesstoken": true, "webhooksecret": true,
}

// eachSecret calls f with the values of an object, and of all below it, that are secret.
func eachSecret(v *hujson.Value, f func(of *hujson.Object, name string, value *hujson.Value)) {
	switch t := v.Value.(type) {
	case *hujson.Object:
		for i := range t.Members {
			name := strings.ToLower(textOf(t.Members[i].Name))
			switch value := &t.Members[i].Value; {
			case !secretNames[name]:
				eachSecret(value, f)
			case textOf(*value) != "" || value.Value.Kind() != '"':
				f(t, name, value)
			}
		}
	case *hujson.Array:
		for i := range t.Elements {
			eachSecret(&t.Elements[i], f)
		}
	}
}

// textOf returns the text that a value is, "" for one that is none.
func textOf(v hujson.Value) string {
	l, ok := v.Value.(hujson.Literal)
	if !ok || l.Kind() != '"' {
		return ""
	}
	return l.String()
}

// hideSecrets puts the word for a secret in the place of each.
func hideSecrets(root *hujson.Value) {
	eachSecret(root, func(_ *hujson.Object, _ string, value *hujson.Value) { value.Value = hujson.String(redacted) })
}

// restoreSecrets puts secrets of an older configuration where a newer one has the word
// for them, if both ask the same address: a secret is sent to no other.
func restoreSecrets(text, old string) (string, error) {
	root, err := jsonc.Parse(text)
	if err != nil {
		return text, nil // which ParseConfig refuses
	}
	before, err := jsonc.Parse(old)
	if err != nil {
		return text, nil
	}
	saved := map[string]string{}
	eachSecret(&before, func(of *hujson.Object, name string, value *hujson.Value) { saved[placeOf(of, name)] = textOf(*value) })
	same := sameService(root, before)
	changed := false
	eachSecret(&root, func(of *hujson.Object, name string, value *hujson.Value) {
		if textOf(*value) != redacted {
			return
		}
		secret := saved[placeOf(of, name)]
		if !same || secret == "" {
			err = errors.New("the " + name + " is not known: write it where the configuration has " + redacted)
			return
		}
		value.Value, changed = hujson.String(secret), true
	})
	if err != nil || !changed {
		return text, err
	}
	return root.String(), nil
}

// placeOf says which secret of a configuration one is: by its name, and by the
// organisation that its object is about.
func placeOf(of *hujson.Object, name string) string {
	for i := range of.Members {
		if strings.EqualFold(textOf(of.Members[i].Name), "org") {
			return name + "\n" + textOf(of.Members[i].Value)
		}
	}
	return name
}

// sameService reports whether two configurations ask the same address.
func sameService(a, b hujson.Value) bool {
	address := func(v hujson.Value) (out service, ok bool) {
		object, isObject := v.Value.(*hujson.Object)
		if !isObject {
			return out, false
		}
		found := 0
		for i := range object.Members {
			if strings.EqualFold(textOf(object.Members[i].Name), "url") {
				u, err := parseURL(textOf(object.Members[i].Value))
				if err != nil {
					return out, false
				}
				out = serviceOf(u)
				found++
			}
		}
		return out, found == 1 // of two the last one counts, to some
	}
	x, okX := address(a)
	y, okY := address(b)
	return okX && okY && x == y && slices.Equal(apiURLs(a), apiURLs(b))
}

// apiURLs are the addresses beside url that a configuration sends secrets to.
func apiURLs(v hujson.Value) (out []string) {
	object, _ := v.Value.(*hujson.Object)
	if object == nil {
		return nil
	}
	for i := range object.Members {
		if strings.EqualFold(textOf(object.Members[i].Name), "apiurl") {
			out = append(out, textOf(object.Members[i].Value))
		}
	}
	return out
}
