/// Where C comes in: [Abi] binds its calls to the methods of the other packages.
package verbena.abi.entry;
