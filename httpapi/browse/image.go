package browse

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"io"
	"net/http"
	"slices"

	"github.com/trawlsearch/trawl/httpapi"
	"github.com/trawlsearch/trawl/httpapi/code"
)

// imageQuery asks for the bytes of a file as an image. Without it they are text.
const imageQuery = "?as=image"

func asImage(r *http.Request) bool { return r.URL.Query().Get("as") == "image" }

// downloadQuery asks for the bytes of a file to be kept.
const downloadQuery = "?as=download"

func asDownload(r *http.Request) bool { return r.URL.Query().Get("as") == "download" }

// imageURL is the address of a file as an image.
func imageURL(name, rev, path string) string { return code.RawURL(name, rev, path) + imageQuery }

// sniffBytes is how much of a file tells what it is.
const sniffBytes = 4 << 10

// svgType is the type of images that are documents: they can have scripts and links,
// which no browser runs or follows in an <img>.
const svgType = "image/svg+xml"

// pictures are the types of images that are nothing but pixels.
var pictures = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/x-icon"}

// imageType is the type of the image that begins with some bytes, "" for none. What a
// file is called does not matter.
func imageType(head []byte) string {
	head = head[:min(len(head), sniffBytes)]
	if t := http.DetectContentType(head); slices.Contains(pictures, t) {
		return t
	}
	if len(head) >= 12 && string(head[4:8]) == "ftyp" && (string(head[8:12]) == "avif" || string(head[8:12]) == "avis") {
		return "image/avif"
	}
	if isSVG(head) {
		return svgType
	}
	return ""
}

// isSVG reports whether the first element of a text is svg.
func isSVG(head []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for {
		t, err := d.RawToken()
		if err != nil {
			return false
		}
		switch t := t.(type) {
		case xml.StartElement:
			return t.Name.Local == "svg"
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				return false
			}
		}
	}
}

// image sets the type of an image. An SVG that is opened by itself, as far as the
// browser says, stays text.
func (d *download) image(r *http.Request, content io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(content, sniffBytes)
	head, err := in.Peek(sniffBytes)
	if err != nil && err != io.EOF {
		return nil, err
	}
	kind := imageType(head)
	if kind == "" {
		return nil, &httpapi.Error{Status: http.StatusUnsupportedMediaType, Message: "the file is no image that browsers show"}
	}
	if dest := r.Header.Get("Sec-Fetch-Dest"); kind != svgType || dest == "" || dest == "image" {
		d.Header().Set("Content-Type", kind)
	}
	return in, nil
}
