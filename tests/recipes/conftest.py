from tests.cli.conftest import model as model
