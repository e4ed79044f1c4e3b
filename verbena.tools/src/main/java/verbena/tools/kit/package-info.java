/// What all commands stand on: how a command ends, options and help, addresses and numbers as text, the
/// exchange with a peer before RDMA, and this program as a second process.
package verbena.tools.kit;
