/// TCP streams for iWARP: [TcpLink] moves them, each a [TcpSocket].
package verbena.nic.link.tcp;
