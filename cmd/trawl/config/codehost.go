package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trawlsearch/trawl/httpapi/hosts"
	"github.com/trawlsearch/trawl/store/redact"
)

// CodeHost is an external service that the configuration file declares.
type CodeHost struct {
	// Name is what people call it, and what it is known by.
	Name string
	// Kind is as the API has it, such as GITHUB.
	Kind string

	// settings are those of the service without secrets, token and hook where the
	// secrets are.
	settings    map[string]any
	token, hook secret
}

// secret is a text, or where one is; the zero value is none.
type secret struct{ text, file, env string }

// secretKeys are the keys of an entry that name secrets, and codeHostsKey the key of the
// list.
const (
	codeHostsKey = "code-hosts"

	tokenKey      = "token"
	hookSecretKey = "webhook-secret"
	fileSuffix    = "-file"
	envSuffix     = "-env"
)

// mostSecretBytes bounds what is read of a file that should hold a secret.
const mostSecretBytes = 64 << 10

// readSecret reads a secret from a file.
func readSecret(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Size() > mostSecretBytes {
		return "", fmt.Errorf("%s is longer than %d bytes", path, mostSecretBytes)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return secret, nil
}

// read returns the secret, as the file or the environment has it now.
func (s secret) read() (string, error) {
	switch {
	case s.file != "":
		text, err := readSecret(s.file)
		if err != nil {
			return "", fmt.Errorf("secret: %w", err)
		}
		return text, nil
	case s.env != "":
		text := os.Getenv(s.env)
		if text == "" {
			return "", fmt.Errorf("secret: the environment variable %s is not set", s.env)
		}
		return text, nil
	}
	return s.text, nil
}

// Shown returns the configuration without secrets.
func (h CodeHost) Shown() string { return hosts.Redact(h.shape()) }

// shape returns the configuration with words in the place of secrets.
func (h CodeHost) shape() string {
	hidden := func(s secret) string {
		if s == (secret{}) {
			return ""
		}
		return redact.Word
	}
	return h.with(hidden(h.token), hidden(h.hook))
}

// Config returns the configuration with its secrets, as they are now.
func (h CodeHost) Config() (string, error) {
	token, err := h.token.read()
	hook, hookErr := h.hook.read()
	if err := errors.Join(err, hookErr); err != nil {
		return "", err
	}
	return h.with(token, hook), nil
}

func (h CodeHost) with(token, hook string) string {
	all := map[string]any{}
	for key, value := range h.settings {
		all[key] = value
	}
	if token != "" {
		all["token"] = token
	}
	if hook != "" {
		all["webhooks"] = []map[string]string{{"secret": hook}}
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("settings that were read from YAML are no JSON: %v", err)) // codeHost has tried
	}
	return string(text)
}

func (f *File) codeHosts(n *yaml.Node) error {
	entries, err := f.list(codeHostsKey, n)
	if err != nil {
		return err
	}
	for _, e := range entries {
		h, err := f.codeHost(e)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(f.CodeHosts, func(o CodeHost) bool { return o.Name == h.Name }) {
			return f.errorAt(e.Line, "there are two code hosts called %q: give one of them another name", h.Name)
		}
		f.CodeHosts = append(f.CodeHosts, h)
	}
	return nil
}

func (f *File) codeHost(n *yaml.Node) (CodeHost, error) {
	h := CodeHost{settings: map[string]any{}}
	if n.Kind != yaml.MappingNode {
		return h, f.errorAt(n.Line, "%s: expected keys with values, such as kind: github", codeHostsKey)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := resolve(n.Content[i]), resolve(n.Content[i+1])
		if err := f.codeHostValue(&h, key.Value, value); err != nil {
			return h, err
		}
	}
	if h.Name == "" || h.Kind == "" {
		return h, f.errorAt(n.Line, "a code host needs a name and a kind: name: ours, kind: github")
	}
	if _, err := json.Marshal(h.settings); err != nil {
		return h, f.errorAt(n.Line, "code host %q: a key is no text", h.Name)
	}
	if _, err := hosts.ParseDeclared(h.Kind, h.shape()); err != nil {
		return h, f.errorAt(n.Line, "code host %q: %v", h.Name, err)
	}
	return h, nil
}

func (f *File) codeHostValue(h *CodeHost, key string, n *yaml.Node) (err error) {
	var text string
	scalar := func(to *string) error {
		text, err = f.scalar(key, n)
		*to = text
		return err
	}
	switch key {
	case "name":
		return scalar(&h.Name)
	case "kind":
		err = scalar(&h.Kind)
		h.Kind = strings.ToUpper(h.Kind)
		return err
	case tokenKey:
		return scalar(&h.token.text)
	case tokenKey + envSuffix:
		return scalar(&h.token.env)
	case tokenKey + fileSuffix:
		err = scalar(&h.token.file)
		h.token.file = f.relative(h.token.file)
		return err
	case hookSecretKey:
		return scalar(&h.hook.text)
	case hookSecretKey + envSuffix:
		return scalar(&h.hook.env)
	case hookSecretKey + fileSuffix:
		err = scalar(&h.hook.file)
		h.hook.file = f.relative(h.hook.file)
		return err
	}
	if key == hosts.ReposFileKey {
		if err := scalar(&text); err != nil {
			return err
		}
		h.settings[key] = f.relative(text)
		return nil
	}
	var value any
	if err := n.Decode(&value); err != nil {
		return f.errorAt(n.Line, "%s: %s", codeHostsKey, key)
	}
	if _, ok := h.settings[key]; ok {
		return f.errorAt(n.Line, "%s: %s stands here twice", codeHostsKey, key)
	}
	h.settings[key] = value
	return nil
}
