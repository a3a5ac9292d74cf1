package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// AssetPath is where assets are, below the server's URL; what follows is
// AssetVersion and a name.
const AssetPath = "/-/assets/"

//go:embed assets
var assetFiles embed.FS

// asset is one file for browsers.
type asset struct {
	contentType string
	zipped      []byte
	plain       func() []byte
}

// library is all assets, by name, and what they are together.
type library struct {
	assets  map[string]*asset
	version string
	// imports are the modules that each module imports.
	imports map[string][]string
}

// importLine is how a module imports another.
const importLine = `(?m)^import .* from "\./([a-z.]+)";$`

// assets reads the library, once. A file that ends in .gz is already compressed
// and is served under the name without the suffix.
var assets = sync.OnceValue(func() library {
	lib, imports := library{assets: map[string]*asset{}, imports: map[string][]string{}}, regexp.MustCompile(importLine)
	sum := sha256.New()
	err := fs.WalkDir(assetFiles, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := assetFiles.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s %d\n", name, len(data))
		sum.Write(data)
		name, zipped := strings.CutSuffix(strings.TrimPrefix(name, "assets/"), ".gz")
		if kind := assetTypes[path.Ext(name)]; kind != "" {
			lib.assets[name] = newAsset(kind, data, zipped)
		}
		if path.Ext(name) == ".js" && !zipped {
			for _, m := range imports.FindAllSubmatch(data, -1) {
				lib.imports[name] = append(lib.imports[name], string(m[1]))
			}
		}
		return nil
	})
	if err != nil {
		panic("web: embedded assets: " + err.Error())
	}
	lib.version = hex.EncodeToString(sum.Sum(nil)[:8])
	return lib
})

// assetTypes are the types of what is served; other files are notes beside it.
var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8",
}

func newAsset(contentType string, data []byte, zipped bool) *asset {
	if zipped {
		return &asset{contentType, data, sync.OnceValue(func() []byte { return unzip(data) })}
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(data) // a buffer takes everything
	_ = z.Close()
	return &asset{contentType, out.Bytes(), func() []byte { return data }}
}

func unzip(data []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		panic("web: embedded asset: " + err.Error())
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		panic("web: embedded asset: " + err.Error())
	}
	return plain
}

// imported returns the modules that modules import, and those that these import, without
// the modules themselves.
func imported(modules []string) []string {
	all, imports := slices.Clone(modules), assets().imports
	for i := 0; i < len(all); i++ {
		for _, name := range imports[all[i]] {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all[len(modules):]
}

// AssetVersion names what all assets are together.
func AssetVersion() string { return assets().version }

// ServeAsset answers with the asset of a version and a name. A version that is
// not ours is that of another release of the server, whose page a browser still
// shows: it gets what there is, and is not to keep it.
func ServeAsset(w http.ResponseWriter, r *http.Request, version, name string) (found bool) {
	a := assets().assets[name]
	if a == nil {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", a.contentType)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	h.Set("Cache-Control", "no-cache")
	if version == AssetVersion() {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	body := a.zipped
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
	} else {
		body = a.plain()
	}
	_, _ = w.Write(body) // a client that is gone misses nothing
	return true
}
