"""Libraries of arrays, maps and models: what they write into a body they read back."""

from pathlib import Path
from typing import Any

import anndata
import geopandas
import h5py
import kerchunk.hdf
import numpy as np
import pandas as pd
import pydicom
import pytest
import rasterio
import rioxarray
import safetensors.numpy
import shapely
import tifffile
import webdataset
import xarray
import zarr
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from pydicom.uid import ExplicitVRLittleEndian

from messagebody import MessageBody

GRID = np.arange(64 * 64, dtype="uint16").reshape(64, 64)


def write_hdf(fs: Any, path: str) -> None:
    with fs.open(path, "w+b") as file, h5py.File(file, "w") as hdf:
        hdf.create_dataset("grid", data=GRID, chunks=(16, 16))


def write_tiff(fs: Any, path: str) -> None:
    with fs.open(path, "wb") as file:
        tifffile.imwrite(file, GRID, tile=(32, 32))


@pytest.mark.library("numpy", "npy, npz", "open file", "reads, writes")
def test_numpy(body: MessageBody, fs: Any) -> None:
    with fs.open("/a.npy", "wb") as file:
        np.save(file, GRID)
    with fs.open("/a.npz", "wb") as file:
        np.savez(file, grid=GRID)
    with fs.open("/a.npy") as one, fs.open("/a.npz") as several:
        assert (np.load(one) == np.load(several)["grid"]).all()
    kinds = [body[name].content_type for name in ("/a.npy", "/a.npz")]
    assert kinds == ["application/x-npy", "application/x-npz"]


@pytest.mark.library("zarr", "zarr 2 and 3", "filesystem", "reads, writes")
@pytest.mark.parametrize("version", [2, 3])
def test_zarr(fs: Any, version: Any) -> None:
    asynchronous = AsyncFileSystemWrapper(fs, asynchronous=True)
    store = zarr.storage.FsspecStore(asynchronous, path=f"/z{version}")
    made = zarr.create_array(store, shape=(64, 64), chunks=(16, 16), dtype="uint16",
                             zarr_format=version)  # fmt: skip
    made[:] = GRID
    assert (zarr.open_array(store, mode="r")[20:30] == GRID[20:30]).all()


@pytest.mark.library("xarray", "zarr, HDF5, netCDF", "filesystem", "reads, writes")
def test_xarray(fs: Any) -> None:
    asynchronous = AsyncFileSystemWrapper(fs, asynchronous=True)
    store = zarr.storage.FsspecStore(asynchronous, path="/cube")
    cube = xarray.Dataset({"grid": (("x", "y"), GRID)})
    cube.to_zarr(store, consolidated=False)
    assert xarray.open_zarr(store, consolidated=False)["grid"].equals(cube["grid"])
    write_hdf(fs, "/a.h5")
    with fs.open("/a.h5") as file:
        opened = xarray.open_dataset(file, engine="h5netcdf", phony_dims="sort")
        assert (opened["grid"].to_numpy() == GRID).all()


@pytest.mark.library("h5py", "HDF5", "open file", "reads, writes, changes")
def test_h5py(body: MessageBody, fs: Any) -> None:
    write_hdf(fs, "/a.h5")
    with fs.open("/a.h5", "r+b") as file, h5py.File(file, "a") as hdf:
        hdf["more"] = GRID[0]
    with fs.open("/a.h5") as file, h5py.File(file) as hdf:
        assert ([*hdf], int(hdf["grid"][3, 5])) == (["grid", "more"], 3 * 64 + 5)
    assert body["/a.h5"].content_type == "application/x-hdf5"


@pytest.mark.library("h5netcdf", "netCDF 4", "open file", "reads, writes")
def test_h5netcdf(body: MessageBody, fs: Any) -> None:
    cube = xarray.Dataset({"grid": (("x", "y"), GRID)})
    with fs.open("/a.nc", "w+b") as file:
        cube.to_netcdf(file, engine="h5netcdf")
    with fs.open("/a.nc") as file:
        assert xarray.load_dataset(file, engine="h5netcdf").equals(cube)
    assert body["/a.nc"].content_type == "application/x-netcdf"


@pytest.mark.library("kerchunk", "HDF5 as references", "URL", "reads")
def test_kerchunk(fs: Any) -> None:
    write_hdf(fs, "/a.h5")
    with fs.open("/a.h5") as file:
        found = kerchunk.hdf.SingleHdf5ToZarr(file, "/a.h5", inline_threshold=0).translate()
    path, start, size = found["refs"]["grid/0.0"]
    assert fs.cat_file(path, start, start + size) == GRID[:16, :16].tobytes()


@pytest.mark.library("tifffile", "TIFF", "open file", "reads, writes")
def test_tifffile(body: MessageBody, fs: Any) -> None:
    write_tiff(fs, "/a.tif")
    with fs.open("/a.tif") as file:
        assert (tifffile.imread(file) == GRID).all()
    assert body["/a.tif"].content_type == "image/tiff"


@pytest.mark.library("rasterio", "GeoTIFF", "filesystem, as `opener`", "reads, writes")
def test_rasterio(fs: Any) -> None:
    shape = {"width": 64, "height": 64, "count": 1, "dtype": "uint16"}
    with rasterio.open("/a.tif", "w", driver="GTiff", opener=fs, **shape) as target:
        target.write(GRID, 1)
    with rasterio.open("/a.tif", opener=fs) as source:
        assert (source.read(1) == GRID).all()
    with rasterio.open("/a.tif", "r+", opener=fs) as changed:
        changed.write(GRID + 1, 1)
    with fs.open("/a.tif") as file, rasterio.open(file) as source:
        assert (source.read(1) == GRID + 1).all()


@pytest.mark.library("rioxarray", "GeoTIFF", "open file", "reads")
def test_rioxarray(fs: Any) -> None:
    write_tiff(fs, "/a.tif")
    with fs.open("/a.tif") as file:
        assert (rioxarray.open_rasterio(file)[0].to_numpy() == GRID).all()


@pytest.mark.library("geopandas", "GeoJSON, FlatGeobuf, GeoPackage", "open file", "reads, writes")
@pytest.mark.parametrize("driver", ["GeoJSON", "FlatGeobuf", "GPKG"])
def test_geopandas(fs: Any, driver: str) -> None:
    frame = geopandas.GeoDataFrame({"n": [7]}, geometry=[shapely.Point(10.7, 59.9)], crs=4326)
    with fs.open("/a.map", "wb") as file:
        frame.to_file(file, driver=driver)
    with fs.open("/a.map") as file:
        assert geopandas.read_file(file)["n"].tolist() == [7]


@pytest.mark.library("safetensors", "safetensors", "bytes", "reads, writes")
def test_safetensors(body: MessageBody, fs: Any) -> None:
    fs.pipe_file("/a.safetensors", safetensors.numpy.save({"grid": GRID}))
    assert (safetensors.numpy.load(fs.cat_file("/a.safetensors"))["grid"] == GRID).all()
    assert body["/a.safetensors"].content_type == "application/x-safetensors"


@pytest.mark.library("pydicom", "DICOM", "open file", "reads, writes")
def test_pydicom(fs: Any) -> None:
    made = pydicom.Dataset()
    made.PatientName = "Nobody"
    made.file_meta = pydicom.dataset.FileMetaDataset()
    made.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    made.SOPClassUID = made.SOPInstanceUID = "1.2.3"
    with fs.open("/a.dcm", "wb") as file:
        pydicom.dcmwrite(file, made, enforce_file_format=True)
    with fs.open("/a.dcm") as file:
        assert str(pydicom.dcmread(file).PatientName) == "Nobody"


@pytest.mark.library("anndata", "h5ad", "open file", "reads, writes")
def test_anndata(fs: Any) -> None:
    with pd.option_context("future.infer_string", False):  # it can't write pandas' newer strings
        made = anndata.AnnData(GRID.astype("float32"))
    with fs.open("/a.h5ad", "w+b") as file, h5py.File(file, "w") as hdf:
        anndata.io.write_elem(hdf, "/", made)
    with fs.open("/a.h5ad") as file, h5py.File(file) as hdf:
        assert (anndata.io.read_elem(hdf["/"]).X == GRID).all()


@pytest.mark.library("webdataset", "tar", "open file", "reads, writes")
def test_webdataset(fs: Any, tmp_path: Path) -> None:
    with fs.open("/a.tar", "wb") as file, webdataset.TarWriter(file) as tar:
        tar.write({"__key__": "one", "txt": "meow"})
    with fs.open("/a.tar") as file:
        found = [*webdataset.tariterators.tar_file_iterator(file)]
    assert [(each["fname"], each["data"]) for each in found] == [("one.txt", b"meow")]
