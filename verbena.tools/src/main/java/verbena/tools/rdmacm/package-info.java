/// The programs of librdmacm: `rping`, `ucmatose`, `udaddy`, `mckey`, `xserver` and `xclient`. Either end can be
/// the C program.
package verbena.tools.rdmacm;
