/// The cases, a class for each topic. A case is a public method that takes a fixture; its name is what is promised.
package verbena.conformance.cases;
