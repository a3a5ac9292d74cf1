package hosts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// ErrAddress says that an address may not be connected to.
var ErrAddress = errors.New("address not allowed")

// Guard decides which addresses may be connected to. The zero value refuses
// this machine, addresses on the same link, and the metadata services of
// clouds, which hold secrets. Private networks are allowed, since git hosts are
// there.
type Guard struct {
	// AllowLocal lets every address pass.
	AllowLocal bool
	// PublicOnly refuses private networks as well: those of RFC 1918, RFC 4193 and RFC 6598.
	PublicOnly bool
}

// shared is the network that providers share among their customers, by RFC 6598.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// secrets are addresses of clouds' metadata services beyond link-local ones.
var secrets = []netip.Prefix{
	netip.MustParsePrefix("100.100.100.200/32"), netip.MustParsePrefix("192.0.0.192/32"),
	netip.MustParsePrefix("168.63.129.16/32"), netip.MustParsePrefix("fd00:ec2::/32"), netip.MustParsePrefix("fd20:ce::/32"),
}

// embedded are networks of IPv6 whose addresses stand for one of IPv4, with the
// byte where that begins.
var embedded = []struct {
	network netip.Prefix
	at      int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, {netip.MustParsePrefix("64:ff9b:1::/48"), 12},
	{netip.MustParsePrefix("2002::/16"), 2}, {netip.MustParsePrefix("::/96"), 12},
}

// Check refuses an address with an error that is ErrAddress.
func (g Guard) Check(ip netip.Addr) error {
	if g.AllowLocal {
		return nil
	}
	ip = ip.Unmap().WithZone("")
	refused := !ip.IsValid() || ip.IsLoopback() || ip.IsUnspecified() || ip.IsMulticast() || ip.IsLinkLocalUnicast() ||
		ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}) || ip.Is4() && ip.As4()[0] == 0
	for _, p := range secrets {
		refused = refused || p.Contains(ip)
	}
	if g.PublicOnly && (ip.IsPrivate() || shared.Contains(ip)) {
		return fmt.Errorf("%w: %s is of a private network", ErrAddress, ip)
	}
	if refused {
		return fmt.Errorf("%w: %s is this machine, its link or a metadata service", ErrAddress, ip)
	}
	for _, e := range embedded {
		if ip.Is6() && e.network.Contains(ip) {
			b := ip.As16()
			return g.Check(netip.AddrFrom4([4]byte(b[e.at : e.at+4])))
		}
	}
	return nil
}

// dialTimeout bounds how long a connection may take to be made.
const dialTimeout = 20 * time.Second

// Dial connects to an address, which is judged when its name has been looked
// up: no answer of a name server can change it afterwards.
func (g Guard) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("%w: %q", ErrAddress, address)
		}
		return g.Check(at.Addr())
	}}
	return d.DialContext(ctx, network, address)
}
