/// Support for tests of programs that do RDMA: begin with [verbena.junit.RdmaTest].
package verbena.junit;
