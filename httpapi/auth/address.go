package auth

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ParseProxies reads addresses and networks such as 10.0.0.0/8, separated by
// spaces or commas.
func ParseProxies(text string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, p := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		if ip, err := netip.ParseAddr(p); err == nil {
			out = append(out, netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()))
			continue
		}
		prefix, err := netip.ParsePrefix(p)
		if err != nil {
			return nil, fmt.Errorf("%q is no address or network: write 10.1.2.3 or 10.0.0.0/8", p)
		}
		out = append(out, prefix.Masked())
	}
	return out, nil
}

// peer returns the address that holds the connection of a request.
func peer(r *http.Request) (netip.Addr, bool) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}, false
	}
	ip, err := netip.ParseAddr(host)
	return ip, err == nil
}

// address returns the address of a request's client: the one that the last
// trusted proxy names, or that of the connection.
func (re *Reach) address(r *http.Request) string {
	ip, ok := peer(r)
	if !ok {
		return ""
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && re.trustedProxy(ip); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		ip = hop
	}
	return ip.Unmap().WithZone("").String()
}

// Forwarded reports whether something in front passed the request on, so that
// it may be from elsewhere although it came over loopback.
func Forwarded(r *http.Request) bool {
	return slices.ContainsFunc([]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"}, func(name string) bool {
		return len(r.Header[name]) > 0
	})
}

func (re *Reach) trustedProxy(ip netip.Addr) bool {
	return slices.ContainsFunc(re.Proxies, func(p netip.Prefix) bool { return p.Contains(ip.Unmap()) })
}
